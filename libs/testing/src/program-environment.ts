/**
 * What a program that a spec starts takes over of its environment: where programs are found, and where Node keeps what it has
 * compiled, which halves the time of a start. The rest would make a spec depend on who runs it.
 */
export function programEnvironment(): Record<string, string> {
  const inherited = ['PATH', 'NODE_COMPILE_CACHE'].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(inherited);
}
