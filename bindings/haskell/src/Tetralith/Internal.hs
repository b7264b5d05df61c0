-- | Calls into the C library: views of byte strings, statuses as failures.
module Tetralith.Internal
  ( bound
  , call
  , columns
  , filled
  , view
  ) where

import Control.Concurrent (rtsSupportsBoundThreads, runInBoundThread)
import qualified Data.ByteString as B
import qualified Data.ByteString.Internal as BI
import qualified Data.ByteString.Unsafe as BU
import Data.Int (Int32)
import Data.Word (Word64, Word8)
import Foreign.C.String (CString, peekCString)
import Foreign.C.Types (CSize (..))
import Foreign.Marshal.Alloc (allocaBytes)
import Foreign.Marshal.Array (withArray)
import Foreign.Ptr (Ptr, castPtr)

import Tetralith.Error

foreign import ccall unsafe "tetralith_last_error"
  c_last_error :: CString -> CSize -> IO CSize

-- | The bytes of a string, which live as long as the action.
view :: B.ByteString -> (Ptr Word8 -> CSize -> IO a) -> IO a
view bytes work = BU.unsafeUseAsCStringLen bytes $ \(start, len) -> work (castPtr start) (fromIntegral len)

-- | A result of that many bytes, which the action writes.
filled
  :: (IO Int32 -> IO (Either Error ()))
  -> CSize
  -> (Ptr Word8 -> CSize -> IO Int32)
  -> IO (Either Error B.ByteString)
filled how len work = do
  (bytes, result) <- BI.createUptoN' (fromIntegral len) $ \out -> do
    result <- how (work out len)
    pure (fromIntegral len, result)
  pure (bytes <$ result)

-- | Messages one after the other, and where each begins and the last ends.
columns :: [B.ByteString] -> (Ptr Word8 -> CSize -> Ptr Word64 -> IO a) -> IO a
columns messages work =
  view (B.concat messages) $ \start len ->
    withArray (scanl (+) 0 (map (fromIntegral . B.length) messages)) (work start len)

-- | Runs a call that may be repeated, and turns its status into what failed.
--
-- The library keeps a failure for each thread of the system, and a Haskell thread may move between two
-- calls. So a call that failed is repeated on a bound thread, which does not move.
call :: IO Int32 -> IO (Either Error ())
call work = do
  status <- work
  if status == 0 then pure (Right ()) else bound work

-- | As 'call', for calls that take long: they run once.
bound :: IO Int32 -> IO (Either Error ())
bound work = (if rtsSupportsBoundThreads then runInBoundThread else id) $ do
  status <- work
  if status == 0 then pure (Right ()) else Left . parse status <$> lastError

lastError :: IO String
lastError = allocaBytes size $ \buffer -> do
  _ <- c_last_error buffer (fromIntegral size)
  peekCString buffer
  where
    size = 1024

parse :: Int32 -> String -> Error
parse status text = case breakOn text of
  (code, message) -> Error (kind status) code message

breakOn :: String -> (String, String)
breakOn text = case break (== ':') text of
  (code, ':' : ' ' : message) -> (code, message)
  _ -> ("internal", text)

kind :: Int32 -> Kind
kind status = case status of
  1 -> NotValid
  2 -> Malformed
  3 -> Environment
  4 -> State
  64 -> Argument
  _ -> Internal
