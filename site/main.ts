// Serves or builds the documentation site:  npm run docs -- --help

import { execFileSync, spawn } from 'node:child_process'
import { watch } from 'node:fs'
import { constants } from 'node:os'
import { join, resolve } from 'node:path'
import { toArgumentError } from '@portcullis/service-kit/cli/argument-faults'
import { toMessage } from '@portcullis/service-kit/text/reason'
import { loadDrawDiagram } from './src/diagrams.ts'
import { help, type Options, parseOptions } from './src/options.ts'
import { loadSite, root } from './src/site.ts'
import { writeSite } from './src/write-site.ts'

const folder = import.meta.dirname
const cache = join(folder, '.cache')

const options = parseOptions(process.argv.slice(2))
if (options === 'help') {
  console.log(help)
} else if ('fault' in options) {
  process.stderr.write(toArgumentError('npm run docs --', options.fault))
  process.exitCode = 2
} else {
  // The watchers of `serve` keep the process alive, so it ends here.
  process.exit(await run(options))
}

async function run({ verb, port, out, base }: Options): Promise<number> {
  const outDir = resolve(out ?? join(folder, 'dist'))
  try {
    const installer = join(root, 'scripts', 'install.mjs')
    execFileSync(process.execPath, [installer, folder], { stdio: ['ignore', 'inherit', 'inherit'] })
  } catch {
    // The installer has printed the reason.
    return 1
  }
  const drawDiagram = await loadDrawDiagram()
  /** Returns whether everything is correct, and prints what is not. */
  const write = () => {
    try {
      const site = loadSite()
      for (const fault of site.faults) console.error(fault)
      writeSite(site, { folder: cache, outDir, base, drawDiagram })
      return site.faults.length === 0
    } catch (error) {
      console.error(toMessage(error))
      return false
    }
  }
  const isCorrect = write()
  if (verb === 'build') {
    const code = isCorrect ? await runVitePress(['build', folder]) : 1
    if (code === 0) console.log(`The site is in ${outDir}.`)
    return code
  }
  watchPages(write)
  return runVitePress(['dev', folder, '--host', '127.0.0.1', '--port', `${port}`, '--strictPort'])
}

/** Changes of the code, such as endpoints, are shown after a restart. */
function watchPages(write: () => void): void {
  let timer: NodeJS.Timeout | undefined
  const onChange = (_: string, name: string | null) => {
    if (name !== null && !name.endsWith('.md') && !name.endsWith('.svg')) return
    clearTimeout(timer)
    timer = setTimeout(write, 200)
  }
  for (const source of ['docs', 'deploy', 'examples']) {
    watch(join(root, source), { recursive: true }, onChange)
  }
}

function runVitePress(args: readonly string[]): Promise<number> {
  const program = join(folder, 'node_modules', 'vitepress', 'bin', 'vitepress.js')
  const child = spawn(process.execPath, [program, ...args], { stdio: 'inherit' })
  const stop = (signal: NodeJS.Signals) => {
    child.kill(signal)
    // Vite waits for the bundling of dependencies, which need not be finished.
    setTimeout(() => child.kill('SIGKILL'), 2000).unref()
  }
  // A terminal sends Ctrl-C to the child as well.
  process.on('SIGINT', () => process.stdin.isTTY || stop('SIGINT'))
  process.on('SIGTERM', stop)
  return new Promise((done) => {
    child.on('error', (error) => {
      console.error(error.message)
      done(1)
    })
    child.on('exit', (code, signal) => {
      done(code ?? 128 + (signal === null ? 0 : (constants.signals[signal] ?? 0)))
    })
  })
}
