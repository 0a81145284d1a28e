// Loaded into every test process. It sets which servers its file declares, separates the compile cache
// of the programs that tests start, and ends a process that hangs with a reason: when no test has
// ended within the time limit, or when an open server or timer keeps it alive after its last test.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseTestHeader } from './test-header.ts'

const [, file = ''] = process.argv
const limitMs = Number(process.env.PORTCULLIS_TEST_HANG_LIMIT_MS)

// The runner itself also loads this file, and so does a program that a test forks.
if (process.env.NODE_TEST_CONTEXT && file.endsWith('.test.ts')) {
  declareServers()
  separateCompileCache()
  await endWhenItHangs()
  endAfterLastTest()
}

/** For `open` of @portcullis/test-servers, which refuses a server that the file does not declare. */
function declareServers(): void {
  const { header } = parseTestHeader(readFileSync(file, 'utf8'))
  process.env.PORTCULLIS_TEST_SERVERS = header.servers.join()
}

/**
 * V8 rejects compiled code of a process with other flags. The auth server changes a flag while it loads, so
 * with a common folder it and the test processes, which load the same modules, would replace each other's
 * code at every start.
 */
function separateCompileCache(): void {
  const folder = process.env.NODE_COMPILE_CACHE
  // This process already uses its folder, so the change applies only to its child processes.
  if (folder) process.env.NODE_COMPILE_CACHE = join(folder, 'programs')
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
