// How long a call takes.

/** The least time of one call in microseconds, of many short runs: a busy machine interrupts long ones. */
export function fastest(work, runs = 100) {
  work();
  let calls = 1;
  const run = () => {
    const start = performance.now();
    for (let i = 0; i < calls; i += 1) work();
    return performance.now() - start;
  };
  while (run() < 3) calls *= 2;
  return Math.min(...Array.from({ length: runs }, run)) * 1000 / calls;
}
