//! XMSS and XMSS^MT hash-based signatures with a state that cannot be reused (RFC 8391, SP 800-208).
