-- | Verifiable random functions. RFC 9381.
module Tetralith.Vrf
  ( Suite (..)
  , proofSize
  , prove
  , publicKey
  , publicKeySize
  , outputSize
  , verify
  , verifyMany
  ) where

import qualified Data.ByteString as B
import Data.Int (Int32)
import Data.Word (Word64, Word8)
import Foreign.C.Types (CSize (..))
import Foreign.Marshal.Alloc (alloca)
import Foreign.Ptr (Ptr, nullPtr)
import Foreign.Storable (peek)
import System.IO.Unsafe (unsafePerformIO)

import Tetralith.Error
import Tetralith.Internal

-- | A curve, a hash function and a way to hash to the curve.
data Suite
  = Draft03Cardano
  | Draft03Algorand
  | Draft13BatchCompat
  | Edwards25519Tai
  | Edwards25519Ell2
  | P256Tai
  | P256Sswu
  | Secp256k1Tai
  deriving (Bounded, Enum, Eq, Ord, Show)

foreign import ccall unsafe "tetralith_vrf_sizes"
  c_sizes :: Int32 -> Ptr CSize -> Ptr CSize -> Ptr CSize -> IO Int32

foreign import ccall safe "tetralith_vrf_verify"
  c_verify
    :: Int32 -> Ptr Word8 -> CSize -> Ptr Word8 -> CSize -> Ptr Word8 -> CSize -> Ptr Word8 -> CSize -> IO Int32

foreign import ccall safe "tetralith_vrf_public_key"
  c_public_key :: Int32 -> Ptr Word8 -> CSize -> Ptr Word8 -> CSize -> IO Int32

foreign import ccall safe "tetralith_vrf_prove"
  c_prove :: Int32 -> Ptr Word8 -> CSize -> Ptr Word8 -> CSize -> Ptr Word8 -> CSize -> IO Int32

foreign import ccall safe "tetralith_vrf_verify_many"
  c_verify_many
    :: Int32 -> CSize -> Ptr Word8 -> Ptr Word8 -> CSize -> Ptr Word64 -> Ptr Word8 -> Ptr Word8 -> Ptr Word8
    -> IO Int32

number :: Suite -> Int32
number = fromIntegral . fromEnum

sizes :: Suite -> (CSize, CSize, CSize)
sizes suite = unsafePerformIO $ alloca $ \key -> alloca $ \proof -> alloca $ \output -> do
  _ <- c_sizes (number suite) key proof output
  (,,) <$> peek key <*> peek proof <*> peek output

-- | The length of public keys in bytes.
publicKeySize :: Suite -> Int
publicKeySize suite = let (size, _, _) = sizes suite in fromIntegral size

-- | The length of proofs in bytes.
proofSize :: Suite -> Int
proofSize suite = let (_, size, _) = sizes suite in fromIntegral size

-- | The length of outputs in bytes.
outputSize :: Suite -> Int
outputSize suite = let (_, _, size) = sizes suite in fromIntegral size

-- | Verifies a proof of a public key for an input, and returns its output. Variable time: all is public.
verify :: Suite -> B.ByteString -> B.ByteString -> B.ByteString -> Either Error B.ByteString
verify suite key alpha proof = unsafePerformIO $
  view key $ \k kLen -> view alpha $ \a aLen -> view proof $ \p pLen ->
    filled call (fromIntegral (outputSize suite)) $ c_verify (number suite) k kLen a aLen p pLen

-- | The public key of a secret key of 32 bytes.
publicKey :: Suite -> B.ByteString -> Either Error B.ByteString
publicKey suite secret = unsafePerformIO $
  view secret $ \s sLen -> filled call (fromIntegral (publicKeySize suite)) $ c_public_key (number suite) s sLen

-- | Makes a proof with a secret key of 32 bytes for an input. Constant time in the key, which is not wiped
-- from the memory of Haskell.
prove :: Suite -> B.ByteString -> B.ByteString -> Either Error B.ByteString
prove suite secret alpha = unsafePerformIO $
  view secret $ \s sLen -> view alpha $ \a aLen ->
    filled call (fromIntegral (proofSize suite)) $ c_prove (number suite) s sLen a aLen

-- | Verifies rows of public key, input and proof on all cores; each verdict is that of 'verify'.
--
-- The result says of each row what its failure means, or 'Nothing' if it is valid.
verifyMany :: Suite -> [(B.ByteString, B.ByteString, B.ByteString)] -> Either Error [Maybe Kind]
verifyMany suite rows = zipWith verdict rows . B.unpack <$> statuses
  where
    fits (key, _, proof) = B.length key == publicKeySize suite && B.length proof == proofSize suite
    -- A row of a wrong length goes as zeros, so that the others keep their places.
    keys = [if fits row then key else B.replicate (publicKeySize suite) 0 | row@(key, _, _) <- rows]
    proofs = [if fits row then proof else B.replicate (proofSize suite) 0 | row@(_, _, proof) <- rows]
    verdict row status
      | not (fits row) = Just Malformed
      | otherwise = case status of
          0 -> Nothing
          1 -> Just NotValid
          _ -> Just Malformed
    statuses = unsafePerformIO $
      view (B.concat keys) $ \k _ -> view (B.concat proofs) $ \p _ ->
        columns [alpha | (_, alpha, _) <- rows] $ \a aLen offsets ->
          filled call (fromIntegral (length rows)) $ \verdicts count ->
            c_verify_many (number suite) count k a aLen offsets p verdicts nullPtr
