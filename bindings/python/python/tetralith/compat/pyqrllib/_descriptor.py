"""QRL's descriptors and addresses."""

from __future__ import annotations

import hashlib

from ._bytes import Bytes, ByteSequence, to_bytes

SHA2_256 = 0
SHAKE_128 = 1
SHAKE_256 = 2
SHA256_2X = 0
XMSS = 0
MULTISIG = 1
ADDRESS_HASH_SIZE = 32


class QRLDescriptor:
    """The three bytes before a QRL seed, public key or address."""

    __slots__ = ("_format", "_hash", "_height", "_signature")

    def __init__(
        self, hashFunction: int, signatureType: int, height: int, addrFormatType: int  # noqa: N803
    ) -> None:
        if hashFunction not in (SHA2_256, SHAKE_128, SHAKE_256):
            raise ValueError("Unsupported hash function")
        if signatureType not in (XMSS, MULTISIG):
            raise ValueError("Unsupported signature type")
        if signatureType == MULTISIG and height != 0:
            raise ValueError("Multi-sig descriptor height must be zero")
        if signatureType == XMSS and (height % 2 or not 4 <= height <= 30):
            raise ValueError("height must be even, from 4 to 30")
        if addrFormatType != SHA256_2X:
            raise ValueError("Address format type not supported")
        self._hash, self._signature = hashFunction, signatureType
        self._height, self._format = height, addrFormatType

    @staticmethod
    def fromBytes(bytes: ByteSequence) -> QRLDescriptor:  # noqa: A002, N802
        data = to_bytes(bytes)
        if len(data) != 3:
            raise ValueError("Descriptor size should be 3 bytes")
        if data[2]:
            raise ValueError("the descriptor's third byte must be zero")
        signature, height = data[0] >> 4, (data[1] & 15) << 1
        # pyqrllib 1.2, which QRL's node requires, ignores the signature type, and QRL's doctests have keys
        # with a 1 there. pyqrllib 1.3 has multi-signature addresses with that type and no height.
        if signature == MULTISIG and height:
            signature = XMSS
        return QRLDescriptor(data[0] & 15, signature, height, data[1] >> 4)

    @staticmethod
    def fromExtendedSeed(extended_seed: ByteSequence) -> QRLDescriptor:  # noqa: N802
        data = to_bytes(extended_seed)
        if len(data) != 51:
            raise ValueError("Extended seed should be 51 bytes")
        return QRLDescriptor.fromBytes(data[:3])

    @staticmethod
    def fromExtendedPK(extended_pk: ByteSequence) -> QRLDescriptor:  # noqa: N802
        data = to_bytes(extended_pk)
        if len(data) != 67:
            raise ValueError("Invalid extended_pk size. It should be 67 bytes")
        return QRLDescriptor.fromBytes(data[:3])

    @staticmethod
    def getSize() -> int:  # noqa: N802
        return 3

    def getHashFunction(self) -> int:  # noqa: N802
        return self._hash

    def getSignatureType(self) -> int:  # noqa: N802
        return self._signature

    def getHeight(self) -> int:  # noqa: N802
        return self._height

    def getAddrFormatType(self) -> int:  # noqa: N802
        return self._format

    def getBytes(self) -> Bytes:  # noqa: N802
        return self._signature << 4 | self._hash, self._format << 4 | self._height >> 1, 0


class QRLHelper:
    """Addresses."""

    @staticmethod
    def getAddress(extended_pk: ByteSequence) -> Bytes:  # noqa: N802
        """The 39 bytes of a public key's address."""
        data = to_bytes(extended_pk)
        address = bytes(QRLDescriptor.fromExtendedPK(data).getBytes())
        address += hashlib.sha256(data).digest()
        return tuple(address + hashlib.sha256(address).digest()[-4:])

    @staticmethod
    def addressIsValid(address: ByteSequence) -> bool:  # noqa: N802
        """Checks the length, the format and the checksum, as QRL's ledger does, and no more.

        :func:`tetralith.xmss.qrl_address_is_valid` checks the descriptor as well.
        """
        data = to_bytes(address)
        if len(data) != 39 or data[1] >> 4 != SHA256_2X:
            return False
        return data[35:] == hashlib.sha256(data[:35]).digest()[-4:]
