// Loaded into every test process. It sets which servers its file declares, and ends a process that
// hangs with a reason: when no test has ended within the time limit, or when an open server or
// timer keeps it alive after its last test.

import { readFileSync } from 'node:fs'
import { parseTestHeader } from './test-header.ts'

const [, file = ''] = process.argv
const limitMs = Number(process.env.PORTCULLIS_TEST_HANG_LIMIT_MS)

// The runner itself also loads this file, and so does a program that a test forks.
if (process.env.NODE_TEST_CONTEXT && file.endsWith('.test.ts')) {
  declareServers()
  await endWhenItHangs()
  endAfterLastTest()
}

/** For `open` of @portcullis/test-servers, which refuses a server that the file does not declare. */
function declareServers(): void {
  const { header } = parseTestHeader(readFileSync(file, 'utf8'))
  process.env.PORTCULLIS_TEST_SERVERS = header.servers.join()
}

async function endWhenItHangs(): Promise<void> {
  // Importing node:test makes a process a test process, so it is only imported here.
  const { beforeEach, afterEach } = await import('node:test')
  let running = 'none'
  let timer: NodeJS.Timeout | undefined
  const restart = () => {
    clearTimeout(timer)
    timer = setTimeout(end, limitMs).unref()
  }
  const end = () => {
    const open = process.getActiveResourcesInfo().filter((name) => !/^(TTY|Pipe)Wrap$/.test(name))
    console.error(
      `This process was ended: no test in it has ended for ${limitMs / 1000} s. ` +
        `Last test started: ${running}. What keeps it alive: ${open.join(', ') || 'unknown'}.`,
    )
    process.exit(1)
  }
  restart()
  beforeEach((t) => {
    running = t.fullName
  })
  afterEach(restart)
}

/**
 * Occasionally Node spins forever during its shutdown after the last test (nodejs/node#47748), when
 * timers no longer run. A process that has nothing left to do, and has reported its tests, skips
 * that shutdown.
 */
function endAfterLastTest(): void {
  const end = (code: number) => process.exit(code)
  process.on('beforeExit', () => {
    // Registered last, so that all other listeners run before it.
    process.off('exit', end)
    process.on('exit', end)
  })
}
