/**
 * The environment that a program under test inherits: the path, and Node's compile cache, which halves the time of a start. The
 * rest would make a spec depend on its
 * environment.
 */
export function programEnvironment(): Record<string, string> {
  const inherited = ['PATH', 'NODE_COMPILE_CACHE'].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(inherited);
}
