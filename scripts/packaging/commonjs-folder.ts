/** The folder of the CommonJS variant of a package, beside `lib`. */
export const commonJsFolder = 'cjs'
