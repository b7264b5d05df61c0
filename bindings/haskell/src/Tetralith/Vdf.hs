-- | Verifiable delays: y = x^(2^T) mod N by T squarings, one after the other, and proofs of it.
module Tetralith.Vdf
  ( Modulus
  , System (..)
  , compute
  , hashToElement
  , prove
  , readModulus
  , verify
  , width
  ) where

import Control.Exception (mask_)
import qualified Data.ByteString as B
import Data.Int (Int32)
import Data.Word (Word64, Word8)
import Foreign.C.Types (CSize (..))
import Foreign.ForeignPtr (FinalizerPtr, ForeignPtr, newForeignPtr, withForeignPtr)
import Foreign.Marshal.Alloc (alloca)
import Foreign.Ptr (FunPtr, Ptr, castPtr, nullFunPtr, nullPtr)
import Foreign.Storable (peek)
import System.IO.Unsafe (unsafePerformIO)

import Tetralith.Error
import Tetralith.Internal

-- | A way to prove sequential squarings.
data System
  = -- | One group element.
    Wesolowski
  | -- | Consecutive segments, ready soon after the last squaring.
    NWesolowski
  | -- | A group element for each halving of T.
    Pietrzak
  deriving (Bounded, Enum, Eq, Show)

data Handle

-- | An odd modulus N, which is freed when nothing refers to it.
newtype Modulus = Modulus (ForeignPtr Handle)

foreign import ccall unsafe "tetralith_vdf_new"
  c_new :: Ptr Word8 -> CSize -> Ptr (Ptr Handle) -> IO Int32

foreign import ccall unsafe "&tetralith_vdf_free"
  c_free :: FinalizerPtr Handle

foreign import ccall unsafe "tetralith_vdf_width"
  c_width :: Ptr Handle -> IO CSize

foreign import ccall safe "tetralith_vdf_hash_to_element"
  c_hash :: Ptr Handle -> Word64 -> Ptr Word8 -> CSize -> Ptr Word8 -> CSize -> IO Int32

foreign import ccall safe "tetralith_vdf_compute"
  c_compute
    :: Ptr Handle -> Ptr Word8 -> CSize -> Word64 -> FunPtr () -> Ptr () -> Ptr Word8 -> CSize -> IO Int32

foreign import ccall safe "tetralith_vdf_prove"
  c_prove
    :: Ptr Handle -> Ptr Word8 -> CSize -> Word64 -> Int32 -> CSize -> FunPtr () -> Ptr () -> Ptr Word8 -> CSize
    -> Ptr (Ptr Word8) -> Ptr CSize -> IO Int32

foreign import ccall safe "tetralith_vdf_verify"
  c_verify
    :: Ptr Handle -> Ptr Word8 -> CSize -> Word64 -> Ptr Word8 -> CSize -> Ptr Word8 -> CSize -> IO Int32

foreign import ccall unsafe "tetralith_bytes_free"
  c_bytes_free :: Ptr Word8 -> CSize -> IO ()

-- | Prepares a modulus of 64 to 8192 bits, in big-endian bytes.
readModulus :: B.ByteString -> Either Error Modulus
readModulus bytes = unsafePerformIO $ mask_ $ view bytes $ \start len -> alloca $ \place -> do
  result <- call (c_new start len place)
  case result of
    Left failure -> pure (Left failure)
    Right () -> Right . Modulus <$> (peek place >>= newForeignPtr c_free)

-- | The length in bytes of every number modulo N.
width :: Modulus -> Int
width (Modulus modulus) = fromIntegral (unsafePerformIO (withForeignPtr modulus c_width))

-- | Hashes a public seed to the input x of T squarings. Of an x that somebody chose, outputs combine.
hashToElement :: Modulus -> Word64 -> B.ByteString -> Either Error B.ByteString
hashToElement n@(Modulus modulus) iterations seed = unsafePerformIO $
  withForeignPtr modulus $ \handle -> view seed $ \s sLen ->
    filled call (fromIntegral (width n)) $ c_hash handle iterations s sLen

-- | Computes x^(2^T) mod N. Nothing stops it before its end.
compute :: Modulus -> B.ByteString -> Word64 -> IO (Either Error B.ByteString)
compute n@(Modulus modulus) x iterations =
  withForeignPtr modulus $ \handle -> view x $ \start len ->
    filled bound (fromIntegral (width n)) $ c_compute handle start len iterations nullFunPtr nullPtr

-- | Computes y = x^(2^T) mod N and a proof of it, on that many threads. Nothing stops it
-- before its end.
prove :: Modulus -> B.ByteString -> Word64 -> System -> Int -> IO (Either Error (B.ByteString, B.ByteString))
prove n@(Modulus modulus) x iterations system threads = mask_ $
  withForeignPtr modulus $ \handle -> view x $ \start len -> alloca $ \place -> alloca $ \size -> do
    let number = fromIntegral (fromEnum system) + 1
    result <- filled bound (fromIntegral (width n)) $ \y yLen ->
      c_prove handle start len iterations number (fromIntegral threads) nullFunPtr nullPtr y yLen place size
    case result of
      Left failure -> pure (Left failure)
      Right y -> do
        made <- peek place
        count <- peek size
        proof <- B.packCStringLen (castPtr made, fromIntegral count)
        c_bytes_free made count
        pure (Right (y, proof))

-- | Verifies that a proof is one of exactly this N, x, T and y; without a y, of any.
verify :: Modulus -> B.ByteString -> Word64 -> Maybe B.ByteString -> B.ByteString -> Either Error ()
verify (Modulus modulus) x iterations y proof = unsafePerformIO $
  withForeignPtr modulus $ \handle -> view x $ \start len -> view (maybe B.empty id y) $ \wanted wantedLen ->
    view proof $ \p pLen -> call (c_verify handle start len iterations wanted wantedLen p pLen)
