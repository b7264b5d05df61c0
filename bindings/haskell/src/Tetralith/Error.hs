-- | Failures of every module of this package.
module Tetralith.Error
  ( Error (..)
  , Kind (..)
  ) where

import Control.Exception (Exception)

-- | What a failure means.
data Kind
  = -- | Well formed, and not valid.
    NotValid
  | -- | Malformed input.
    Malformed
  | -- | The machine or the system failed, or the work was stopped.
    Environment
  | -- | The durable state refuses.
    State
  | -- | A wrong argument of the calling program.
    Argument
  | -- | A fault of the library.
    Internal
  deriving (Eq, Ord, Show)

-- | A failure with the stable, dotted code that the command line prints.
data Error = Error
  { errorKind :: Kind
  , errorCode :: String
  , errorMessage :: String
  }
  deriving (Eq, Show)

instance Exception Error
