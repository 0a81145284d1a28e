import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { provideProgram } from '../programs/provide-program.ts'
import { type OpenServer, openServer } from '../server.ts'

export interface ChromiumServer extends OpenServer {
  /** A Playwright browser; each test makes its own context in it. */
  readonly browser: Browser
}

const args = [
  // Its own sandbox needs rights that root in a container does not have.
  '--no-sandbox',
  '--disable-gpu',
  // Nor is the processor to draw in three dimensions in its place.
  '--disable-software-rasterizer',
  '--disable-dev-shm-usage',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** The address bar loads pages of its own into every window: half of what a window costs. */
const unwantedFeatures = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup']

/** A headless Chromium with a fresh profile, driven by Playwright. */
export async function openChromium(): Promise<ChromiumServer> {
  const program = await provideProgram('chromium')
  // Loaded late: it is large, and the tests that open other servers do without.
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

function inheritedEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env)
  return Object.fromEntries(entries.flatMap(([name, value]) => (value ? [[name, value]] : [])))
}

/**
 * Playwright tells neither the process id nor the profile folder, and both must go when the test
 * process is killed. So it starts this script, which writes them down and becomes the browser.
 */
async function writeRecordingLauncher(folder: string, program: string, record: string) {
  const launcher = join(folder, 'launch.sh')
  const lines = [
    '#!/bin/sh',
    `printf '%s\\n' "$$" "$@" > '${record}'`,
    // Of a flag that comes twice the last one counts, and Playwright has this one already.
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
