import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build, stop } from 'esbuild'

const web = join(import.meta.dirname, '../src/web')

/** Makes the files of the console's page from their sources. @returns their texts by name. */
export async function bundleWeb(): Promise<ReadonlyMap<string, string>> {
  const { outputFiles } = await build({
    entryPoints: {
      app: join(web, 'main.tsx'),
      style: join(web, 'style/index.css'),
      refusal: join(web, 'style/refusal.css'),
    },
    bundle: true,
    // A page that few people open brings its code when it is opened.
    splitting: true,
    format: 'esm',
    target: ['chrome123', 'firefox128', 'safari18'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    legalComments: 'none',
    outdir: 'assets',
    write: false,
    logLevel: 'silent',
  })
  // Its process would stay with us, and its memory.
  await stop()
  const files = outputFiles.map(({ path, text }) => [basename(path), text] as const)
  const still = ['index.html', 'mark.svg'] as const
  return new Map([
    ...files,
    ...still.map((name) => [name, readFileSync(join(web, name), 'utf8')] as const),
  ])
}
