// Preloaded into every process that `up` starts: when `up` ends for any reason, standard input closes, and
// this process shuts down in an orderly way.

import { isMainThread } from 'node:worker_threads'

// Worker threads load this file too, and their standard input ends at once.
if (isMainThread) {
  process.stdin.on('error', () => {}).once('close', () => process.kill(process.pid, 'SIGTERM'))
  process.stdin.resume()
  if ('unref' in process.stdin) process.stdin.unref()
}
