"""All names of ``pyqrllib.pyqrllib`` that QRL's programs use."""

from __future__ import annotations

import sys

from ._bytes import (
    bin2hstr,
    bin2mnemonic,
    getHashChainSeed,
    getRandomSeed,
    hstr2bin,
    mnemonic2bin,
    sha2_256,
    sha2_256_n,
    shake128,
    shake256,
    str2bin,
    ucharVector,
)
from ._descriptor import (
    ADDRESS_HASH_SIZE,
    MULTISIG,
    SHA2_256,
    SHA256_2X,
    SHAKE_128,
    SHAKE_256,
    XMSS,
    QRLDescriptor,
    QRLHelper,
)
from ._store import use_store
from ._xmss import XmssBase, XmssBasic, XmssFast, XmssPool

__all__ = [
    "ADDRESS_HASH_SIZE",
    "MULTISIG",
    "SHA256_2X",
    "SHA2_256",
    "SHAKE_128",
    "SHAKE_256",
    "XMSS",
    "QRLDescriptor",
    "QRLHelper",
    "XmssBase",
    "XmssBasic",
    "XmssFast",
    "XmssPool",
    "bin2hstr",
    "bin2mnemonic",
    "getHashChainSeed",
    "getRandomSeed",
    "hstr2bin",
    "install",
    "mnemonic2bin",
    "sha2_256",
    "sha2_256_n",
    "shake128",
    "shake256",
    "str2bin",
    "ucharVector",
    "use_store",
]


def install() -> None:
    """Makes ``import pyqrllib`` mean this package, from now on and in this process."""
    package = sys.modules[__name__.rpartition(".")[0]]
    sys.modules["pyqrllib"] = package
    sys.modules["pyqrllib.pyqrllib"] = sys.modules[__name__]
