// Loaded into every process that `up` starts, before its own program: when `up` is gone, however it
// went, the other end of standard input closes, and this process is told to stop in an orderly way.

import { isMainThread } from 'node:worker_threads'

// A thread of that process loads this too, and has a standard input that ends at once.
if (isMainThread) {
  process.stdin.on('error', () => {}).once('close', () => process.kill(process.pid, 'SIGTERM'))
  process.stdin.resume()
  if ('unref' in process.stdin) process.stdin.unref()
}
