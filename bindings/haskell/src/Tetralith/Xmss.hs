-- | Verification of XMSS and XMSS^MT signatures. RFC 8391.
module Tetralith.Xmss
  ( Format (..)
  , PublicKey
  , readPublicKey
  , signatureSize
  , verify
  ) where

import Control.Exception (mask_)
import qualified Data.ByteString as B
import Data.Int (Int32)
import Data.Word (Word8)
import Foreign.C.Types (CSize (..))
import Foreign.ForeignPtr (FinalizerPtr, ForeignPtr, newForeignPtr, withForeignPtr)
import Foreign.Marshal.Alloc (alloca)
import Foreign.Ptr (Ptr)
import Foreign.Storable (peek)
import System.IO.Unsafe (unsafePerformIO)

import Tetralith.Error
import Tetralith.Internal

-- | An encoding of public keys.
data Format
  = -- | @OID ‖ root ‖ SEED@ of XMSS. RFC 8391 §4.1.7.
    Raw
  | -- | The same of XMSS^MT. RFC 8391 §4.2.2.
    RawMultiTree
  | -- | A SubjectPublicKeyInfo or a certificate in PEM. RFC 9802.
    Pem
  | -- | The same in DER.
    Der
  | -- | QRL's 67 bytes.
    Qrl
  deriving (Bounded, Enum, Eq, Show)

data Handle

-- | A public key, which is freed when nothing refers to it.
newtype PublicKey = PublicKey (ForeignPtr Handle)

foreign import ccall unsafe "tetralith_xmss_public_key_new"
  c_new :: Int32 -> Ptr Word8 -> CSize -> Ptr (Ptr Handle) -> IO Int32

foreign import ccall unsafe "&tetralith_xmss_public_key_free"
  c_free :: FinalizerPtr Handle

foreign import ccall unsafe "tetralith_xmss_signature_size"
  c_signature_size :: Ptr Handle -> IO CSize

foreign import ccall safe "tetralith_xmss_verify"
  c_verify :: Ptr Handle -> Ptr Word8 -> CSize -> Ptr Word8 -> CSize -> IO Int32

-- | Reads a public key.
readPublicKey :: Format -> B.ByteString -> Either Error PublicKey
readPublicKey format bytes = unsafePerformIO $ mask_ $ view bytes $ \start len -> alloca $ \place -> do
  result <- call (c_new (fromIntegral (fromEnum format)) start len place)
  case result of
    Left failure -> pure (Left failure)
    Right () -> Right . PublicKey <$> (peek place >>= newForeignPtr c_free)

-- | The length of the key's signatures in bytes.
signatureSize :: PublicKey -> Int
signatureSize (PublicKey key) = fromIntegral (unsafePerformIO (withForeignPtr key c_signature_size))

-- | Verifies the signature of a message. Variable time: all is public.
verify :: PublicKey -> B.ByteString -> B.ByteString -> Either Error ()
verify (PublicKey key) message signature = unsafePerformIO $
  withForeignPtr key $ \handle -> view message $ \m mLen -> view signature $ \s sLen ->
    call (c_verify handle m mLen s sLen)
