import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { provideProgram } from '../programs/provide-program.ts'
import { type OpenServer, openServer } from '../server.ts'

export interface ChromiumServer extends OpenServer {
  /** A Playwright browser; each test creates its own context. */
  readonly browser: Browser
}

const args = [
  // Its own sandbox needs privileges that root in a container does not have.
  '--no-sandbox',
  '--disable-gpu',
  // Without a GPU, 3D graphics must not be rendered in software either.
  '--disable-software-rasterizer',
  '--disable-dev-shm-usage',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Features that load internal pages into every window, which take half of the cost of a window. */
const unwantedFeatures = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup']

/** A headless Chromium with a new profile, controlled by Playwright. */
export async function openChromium(): Promise<ChromiumServer> {
  const program = await provideProgram('chromium')
  // Loaded on demand, because it is large and most tests do not need it.
  const { chromium } = await import('playwright-core')
  const server = await openServer({
    name: 'chromium',
    build: async ({ folder, guard }) => {
      const record = join(folder, 'launch')
      const artifactsDir = join(folder, 'artifacts')
      await mkdir(artifactsDir)
      const browser = await chromium.launch({
        executablePath: await writeRecordingLauncher(folder, program, record),
        artifactsDir,
        args,
        env: {
          ...inheritedEnvironment(),
          TMPDIR: folder,
          XDG_CONFIG_HOME: folder,
          XDG_CACHE_HOME: folder,
        },
      })
      limitHangs(browser)
      const { pid, profile } = await readRecord(record)
      guard.addFolder(profile)
      guard.addProcess(pid, 'SIGKILL')
      browser.once('disconnected', () => guard.forgetProcess(pid, 'SIGKILL'))
      return { browser }
    },
  })
  const stop = async () => {
    await server.browser.close()
    await server.stop()
  }
  return { ...server, stop, [Symbol.asyncDispose]: stop }
}

/** Playwright's own limit of 30 s fails tests on a busy machine. This one only has to end tests that hang. */
const hangMs = 300_000

function limitHangs(browser: Browser): void {
  const newContext = browser.newContext.bind(browser)
  browser.newContext = async (options) => {
    const context = await newContext(options)
    context.setDefaultTimeout(hangMs)
    return context
  }
}

function inheritedEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env)
  return Object.fromEntries(entries.flatMap(([name, value]) => (value ? [[name, value]] : [])))
}

/**
 * Playwright exposes neither the process id nor the profile folder, and both must be cleaned up
 * when the test process is killed. So it starts this script, which records them and then becomes
 * the browser.
 */
async function writeRecordingLauncher(folder: string, program: string, record: string) {
  const launcher = join(folder, 'launch.sh')
  const lines = [
    '#!/bin/sh',
    `printf '%s\\n' "$$" "$@" > '${record}'`,
    // If a flag is repeated, only the last one counts, and Playwright already sets this one.
    'for flag do',
    '  shift',
    `  case $flag in --disable-features=*) flag="$flag,${unwantedFeatures.join(',')}" ;; esac`,
    '  set -- "$@" "$flag"',
    'done',
    `exec '${program}' "$@"`,
    '',
  ]
  await writeFile(launcher, lines.join('\n'))
  await chmod(launcher, 0o700)
  return launcher
}

async function readRecord(record: string): Promise<{ pid: number; profile: string }> {
  const [pid, ...flags] = (await readFile(record, 'utf8')).trim().split('\n')
  const option = '--user-data-dir='
  const profile = flags.find((flag) => flag.startsWith(option))?.slice(option.length)
  if (profile === undefined) throw new Error('Playwright started Chromium without a profile folder')
  return { pid: Number(pid), profile }
}
