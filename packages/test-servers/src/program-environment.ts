/**
 * What programs that a test starts have of the test's own environment: where others are, and what the run
 * has stripped and compiled already, which they would otherwise do again.
 */
export const programEnvironment: Readonly<Record<string, string>> = Object.fromEntries(
  ['PATH', 'NODE_COMPILE_CACHE'].flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value]]
  }),
)
