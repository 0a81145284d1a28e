// A lock between processes: a file that its holder touches every second. A file that is no longer
// touched belongs to a dead process, and the next process takes it over.

import {
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const touchEveryMs = 1000
const staleAfterMs = 10_000
const pollEveryMs = 100

/** Runs `work` while holding the lock; calls `onWait` once if it has to wait first. */
export async function withFileLock(file, { onWait }, work) {
  const token = `${process.pid}.${performance.timeOrigin}.${Math.random()}`
  mkdirSync(dirname(file), { recursive: true })
  let hasWaited = false
  while (!(await tryToTake(file, token))) {
    if (!hasWaited) onWait()
    hasWaited = true
    await sleep(pollEveryMs)
  }
  const release = () => {
    if (readToken(file) === token) rmSync(file, { force: true })
  }
  const heartbeat = setInterval(() => {
    const now = new Date()
    if (readToken(file) === token) utimesSync(file, now, now)
  }, touchEveryMs)
  process.once('exit', release)
  try {
    return await work()
  } finally {
    clearInterval(heartbeat)
    process.off('exit', release)
    release()
  }
}

async function tryToTake(file, token) {
  try {
    writeFileSync(file, token, { flag: 'wx' })
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  }
  if (!isStale(file)) return false
  // Several processes may find it stale at once. Each writes its own token; the last one holds the
  // lock.
  const mine = `${file}.${token}`
  writeFileSync(mine, token)
  renameSync(mine, file)
  await sleep(pollEveryMs)
  return readToken(file) === token
}

function isStale(file) {
  const status = statSync(file, { throwIfNoEntry: false })
  return status !== undefined && Date.now() - status.mtimeMs > staleAfterMs
}

function readToken(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
