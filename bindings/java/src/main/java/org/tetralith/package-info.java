/**
 * Fast cryptography for ledgers: verifiable random functions, verifiable delays and XMSS signatures.
 *
 * <p>The work is done by native code, which the jar brings with it and which picks the fastest
 * instructions of the CPU at run time. On Java 22 and later it is called through the Foreign Function and
 * Memory API, before that through JNA; {@link org.tetralith.Tetralith#route()} tells which.
 *
 * <ul>
 *   <li>{@link org.tetralith.Vrf}: prove and verify random outputs, one or columns of them.
 *   <li>{@link org.tetralith.Vdf}: sequential squaring and proofs of it.
 *   <li>{@link org.tetralith.XmssPublicKey}: verify post-quantum signatures.
 *   <li>{@link org.tetralith.TetralithProvider}: the same signatures through {@link java.security}.
 * </ul>
 *
 * <p>What another party may have sent, and may be wrong, fails with a checked
 * {@link org.tetralith.TetralithException}, which carries the stable code that the command line prints. A
 * mistake in the calling program fails with {@link java.lang.NullPointerException},
 * {@link java.lang.IllegalArgumentException} or {@link java.lang.IllegalStateException}. All classes may be
 * used from many threads at once.
 */
package org.tetralith;
