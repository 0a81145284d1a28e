/**
 * The part of the test's environment that programs started by a test inherit: paths of other
 * programs, and caches of stripped and compiled code, so that they do not repeat that work.
 */
export const programEnvironment: Readonly<Record<string, string>> = Object.fromEntries(
  ['PATH', 'NODE_COMPILE_CACHE'].flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value]]
  }),
)
