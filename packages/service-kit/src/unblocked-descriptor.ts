import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { Socket } from 'node:net'

/** A way to write to something without ever waiting for it: a full pipe is EAGAIN. */
export interface UnblockedDescriptor extends Disposable {
  readonly fd: number
}

/**
 * Opens what a descriptor leads to once more, in a way that says "full" where the descriptor itself
 * would wait: a write that waits takes a thread of the process for good, and keeps the process from
 * ending. Undefined for files, whose writes always come to an end, and for what we cannot unblock.
 */
export function openUnblocked(fd: number): UnblockedDescriptor | undefined {
  try {
    const kind = fstatSync(fd)
    if (kind.isSocket()) return toUnblocked(fd)
    if (!kind.isFIFO() && !kind.isCharacterDevice()) return undefined
    return reopen(fd) ?? toUnblocked(fd)
  } catch {
    return undefined
  }
}

/** The flag belongs to all who share a descriptor, so one of our own is better. */
function reopen(fd: number): UnblockedDescriptor | undefined {
  const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants
  try {
    const own = openSync(`/proc/self/fd/${fd}`, O_WRONLY | O_NONBLOCK | O_NOCTTY)
    return { fd: own, [Symbol.dispose]: () => closeSync(own) }
  } catch {
    // There is no /proc here, or the pipe belongs to another user.
    return undefined
  }
}

/** Kept for good: with a collected socket its descriptor would be closed. */
const unblocked = new Map<number, Socket>()

/** Node's streams for pipes and sockets set the flag, and Node resets it when the process ends. */
function toUnblocked(fd: number): UnblockedDescriptor {
  if (!unblocked.has(fd)) {
    unblocked.set(fd, new Socket({ fd, readable: false, writable: true }).unref())
  }
  return { fd, [Symbol.dispose]: () => {} }
}
