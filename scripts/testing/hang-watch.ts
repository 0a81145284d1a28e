import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'

// Later than the guard in the test process, which can report a better reason.
const limitMs = Number(process.env.PORTCULLIS_TEST_HANG_LIMIT_MS) * 1.2

/**
 * Ends a run without progress. The guard in each test process needs a running event loop; this
 * watch also ends a run whose test never yields.
 */
export function startHangWatch(): { note(event: TestEvent): void; stop(): void } {
  const running = new Set<string>()
  const end = () => {
    const names = [...running].map((file) => relative(process.cwd(), file))
    console.error(`The run was ended: nothing happened for ${limitMs / 1000} s.`)
    console.error(`Still running: ${names.join(', ')}`)
    process.exit(1)
  }
  const timer = setTimeout(end, limitMs)
  return {
    note: (event) => {
      timer.refresh()
      // At this level a file is a test, named by its path.
      if (event.type === 'test:dequeue' && event.data.nesting === 0) running.add(event.data.name)
      if (event.type === 'test:summary' && event.data.file) running.delete(event.data.file)
    },
    stop: () => clearTimeout(timer),
  }
}
