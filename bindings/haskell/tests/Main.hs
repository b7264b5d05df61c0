-- | Known answers and bad input. Arguments in hex: N, x, y and T in decimal; a VRF public key, input, proof and
-- output of draft03-cardano; an XMSS public key, message and signature.
module Main (main) where

import Control.Concurrent (forkIO, newEmptyMVar, putMVar, takeMVar)
import Control.Monad (forM, forM_, unless)
import qualified Data.ByteString as B
import qualified Data.ByteString.Char8 as C
import Data.Char (digitToInt)
import System.Environment (getArgs)
import System.Exit (exitFailure)

import Tetralith.Error
import qualified Tetralith.Vdf as Vdf
import qualified Tetralith.Vrf as Vrf
import qualified Tetralith.Xmss as Xmss

fromHex :: String -> B.ByteString
fromHex (high : low : rest) = B.cons (fromIntegral (16 * digitToInt high + digitToInt low)) (fromHex rest)
fromHex _ = B.empty

expect :: String -> Bool -> IO ()
expect what holds = unless holds (putStrLn what >> exitFailure)

-- | What must fail with that kind and code.
fails :: String -> Kind -> String -> Either Error a -> IO ()
fails what kind code result = expect what (either is (const False) result)
  where
    is failure = errorKind failure == kind && errorCode failure == code && not (null (errorMessage failure))

get :: Either Error a -> IO a
get = either (\failure -> print failure >> exitFailure) pure

delays :: B.ByteString -> B.ByteString -> B.ByteString -> Int -> IO ()
delays number x y count = do
  n <- get (Vdf.readModulus number)
  expect "width" (Vdf.width n == B.length number)
  found <- Vdf.compute n x (fromIntegral count) >>= get
  expect "y" (found == y)
  forM_ [minBound ..] $ \system -> do
    input <- get (Vdf.hashToElement n 100 (C.pack "a public seed"))
    (result, proof) <- Vdf.prove n input 100 system 2 >>= get
    get (Vdf.verify n input 100 (Just result) proof)
    get (Vdf.verify n input 100 Nothing proof)
    fails "another count" NotValid "verification.other_statement" (Vdf.verify n input 101 Nothing proof)
    fails "a cut proof" Malformed "input.malformed" (Vdf.verify n input 100 Nothing (B.init proof))
  fails "even" Malformed "input.modulus" (Vdf.readModulus (B.replicate 32 2))
  fails "empty" Malformed "input.modulus" (Vdf.readModulus B.empty)

randomness :: B.ByteString -> B.ByteString -> B.ByteString -> B.ByteString -> IO ()
randomness key alpha proof output = do
  let suite = Vrf.Draft03Cardano
  expect "output" (Vrf.verify suite key alpha proof == Right output)
  fails "another input" NotValid "verification.failed" (Vrf.verify suite key (C.pack "other") proof)
  fails "a short proof" Malformed "input.length" (Vrf.verify suite key alpha key)
  fails "an empty key" Malformed "input.length" (Vrf.verify suite B.empty alpha proof)
  forM_ [minBound ..] $ \each -> do
    let secret = B.replicate 32 7
    ours <- get (Vrf.publicKey each secret)
    made <- get (Vrf.prove each secret B.empty)
    drawn <- get (Vrf.verify each ours B.empty made)
    expect "size" (B.length drawn == Vrf.outputSize each)
    fails "a short secret" Malformed "input.length" (Vrf.prove each (B.init secret) B.empty)
  let rows = [(key, alpha, proof), (key, C.pack "other", proof), (key, alpha, key)]
  expect "verdicts" (Vrf.verifyMany suite rows == Right [Nothing, Just NotValid, Just Malformed])
  expect "no rows" (Vrf.verifyMany suite [] == Right [])

signatures :: B.ByteString -> B.ByteString -> B.ByteString -> IO ()
signatures raw message signature = do
  key <- get (Xmss.readPublicKey Xmss.Raw raw)
  expect "signature size" (Xmss.signatureSize key == B.length signature)
  get (Xmss.verify key message signature)
  fails "another message" NotValid "verification.failed" (Xmss.verify key B.empty signature)
  forM_ [minBound ..] $ \format -> case Xmss.readPublicKey format (C.pack "-----") of
    Left failure -> expect "no key" (errorKind failure == Malformed)
    Right _ -> expect "no key" False
  -- Each thread gets its own failure.
  done <- forM [0 .. 63] $ \size -> do
    finished <- newEmptyMVar
    _ <- forkIO $ do
      let results = [Xmss.verify key message (B.take size (B.append signature (B.pack [round']))) | round' <- [0 .. 9]]
          good failure = show size `elem` words (map spaced (errorMessage failure))
      putMVar finished $! all (either good (const False)) results
    pure finished
  forM_ done $ \finished -> takeMVar finished >>= expect "a thread's own failure"
  where
    spaced c = if c `elem` ['0' .. '9'] then c else ' '

main :: IO ()
main = do
  arguments <- getArgs
  case arguments of
    [n, x, y, count, key, alpha, proof, output, raw, message, signature] -> do
      delays (fromHex n) (fromHex x) (fromHex y) (read count)
      randomness (fromHex key) (fromHex alpha) (fromHex proof) (fromHex output)
      signatures (fromHex raw) (fromHex message) (fromHex signature)
    _ -> putStrLn "expected eleven arguments" >> exitFailure
