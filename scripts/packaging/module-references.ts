/** A package of this repository that is bundled into the archive of another one. */
export interface InsidePackage {
  /** The name under which it is imported. */
  readonly name: string
  /** Its folder in the archive. */
  readonly folder: string
}

/**
 * The compiler changes imports in JavaScript to `.js`, but leaves `.ts` in declarations (TypeScript
 * 7.0). Compilers find the `.d.ts` file anyway, but the `.ts` file is not in the archive.
 */
export function toJavaScriptImports(declarations: string): string {
  return replaceInCode(
    declarations,
    /(\bfrom |\bimport\(|\bimport )(['"])(\.\.?\/[^'"]+)\.ts\2/g,
    '$1$2$3.js$2',
  )
}

/** Threads and processes are started by the path of a file, which the compiler does not change. */
export function toJavaScriptPrograms(code: string): string {
  return replaceInCode(
    code,
    /(new URL\('|join\(import\.meta\.dirname, ')([^']+)\.ts'(?=, import\.meta\.url\)|\))/g,
    "$1$2.js'",
  )
}

/**
 * Replaces imports of bundled packages by their path in the archive.
 * @param file the path of the importing module in the archive.
 */
export function toInsideImports(
  code: string,
  file: string,
  packages: readonly InsidePackage[],
): string {
  const toRoot = '../'.repeat(file.split('/').length - 1)
  return code.replace(
    /(['"])(@[\w-]+\/[\w-]+)\/([\w/-]+)\1/g,
    (specifier: string, quote: string, name: string, path: string) => {
      const found = packages.find((each) => each.name === name)
      return found ? `${quote}${toRoot}${found.folder}/${path}.js${quote}` : specifier
    },
  )
}

// Comments are left unchanged, because their examples refer to files of the reader.
function replaceInCode(text: string, pattern: RegExp, replacement: string): string {
  return text.replace(/^(?!\s*(?:\*|\/\/)).*$/gm, (line) => line.replace(pattern, replacement))
}
