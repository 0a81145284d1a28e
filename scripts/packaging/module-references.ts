/** A package of ours that travels in the archive of another. */
export interface InsidePackage {
  /** What its importers call it. */
  readonly name: string
  /** Where it lies in the archive. */
  readonly folder: string
}

/**
 * The compiler gives imports in JavaScript their `.js`, but leaves `.ts` in declarations
 * (TypeScript 7.0). Compilers find the `.d.ts` all the same, but the archive has no such file.
 */
export function toJavaScriptImports(declarations: string): string {
  return replaceInCode(
    declarations,
    /(\bfrom |\bimport\(|\bimport )(['"])(\.\.?\/[^'"]+)\.ts\2/g,
    '$1$2$3.js$2',
  )
}

/** Threads and processes are started from a file, of which the compiler knows nothing. */
export function toJavaScriptPrograms(code: string): string {
  return replaceInCode(
    code,
    /(new URL\('|join\(import\.meta\.dirname, ')([^']+)\.ts'(?=, import\.meta\.url\)|\))/g,
    "$1$2.js'",
  )
}

/**
 * Imports of packages that travel in the archive, by their place there.
 * @param file the path in the archive of the module that imports.
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

// Not in comments: the examples there are about the reader's files.
function replaceInCode(text: string, pattern: RegExp, replacement: string): string {
  return text.replace(/^(?!\s*(?:\*|\/\/)).*$/gm, (line) => line.replace(pattern, replacement))
}
