import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build, type Plugin, stop } from 'esbuild'

const web = join(import.meta.dirname, '../src/web')

/** Appends the stylesheets of single pages to the shared styles. */
const pageStyles: Plugin = {
  name: 'styles of pages',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]style[\\/]index\.css$/ }, ({ path }) => {
      const files = globSync('pages/*/*.css', { cwd: web }).sort()
      const imports = files.map((file) => `@import "../${file.replaceAll('\\', '/')}";`)
      return { contents: [readFileSync(path, 'utf8'), ...imports].join('\n'), loader: 'css' }
    })
  },
}

type Texts = ReadonlyMap<string, string>
let running: Promise<Texts> | undefined

/** Bundles the files of the console's page from their sources. @returns their texts by file name. */
export function bundleWeb(): Promise<Texts> {
  // Concurrent calls share one run, because the end of one would stop the esbuild process of the other.
  running ??= bundle().finally(() => {
    running = undefined
  })
  return running
}

async function bundle(): Promise<Texts> {
  const { outputFiles } = await build({
    entryPoints: {
      app: join(web, 'main.tsx'),
      style: join(web, 'style/index.css'),
      refusal: join(web, 'style/refusal.css'),
    },
    bundle: true,
    // Code that only one page needs is loaded when that page is opened.
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
    plugins: [pageStyles],
  })
  // Stop the esbuild process; otherwise it keeps running and holds its memory.
  await stop()
  const files = outputFiles.map(({ path, text }) => [basename(path), text] as const)
  const still = ['index.html', 'mark.svg'] as const
  return new Map([
    ...files,
    ...still.map((name) => [name, readFileSync(join(web, name), 'utf8')] as const),
  ])
}
