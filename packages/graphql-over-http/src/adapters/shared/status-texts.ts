/**
 * The texts of the status codes. An ES module that imports them from `node:http` makes Node load its
 * implementation of fetch, which adds 70 ms of CPU time to the start of a function.
 */
export const STATUS_CODES: Readonly<Record<string, string | undefined>> =
  process.getBuiltinModule('node:http').STATUS_CODES
