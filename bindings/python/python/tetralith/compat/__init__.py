"""Other packages' names and results over Tetralith, so that existing programs run faster unchanged."""
