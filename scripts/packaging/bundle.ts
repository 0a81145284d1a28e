import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

/** The size of a bundled import, in bytes. */
export interface Size {
  readonly minified: number
  readonly gzipped: number
}

export interface Bundle extends Size {
  /** The external modules that it imports: graphql, and Node's own. */
  readonly imports: readonly string[]
}

/** Bundles a line of code in a project, minified. With `node`, packages may import Node's modules by plain names. */
export async function makeBundle(
  folder: string,
  code: string,
  platform: 'neutral' | 'node' = 'neutral',
): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: code, resolveDir: folder },
    bundle: true,
    minify: true,
    format: 'esm',
    platform,
    target: 'es2022',
    external: ['graphql', 'node:*'],
    outdir: folder,
    write: false,
    metafile: true,
    logLevel: 'silent',
  })
  const contents = outputFiles[0]?.contents ?? new Uint8Array()
  return {
    minified: contents.length,
    gzipped: gzipSync(contents, { level: 9 }).length,
    imports: Object.values(metafile.outputs).flatMap(({ imports }) =>
      imports.map(({ path }) => path),
    ),
  }
}
