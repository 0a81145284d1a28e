import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { Socket } from 'node:net'

/** A descriptor in non-blocking mode: a write to a full pipe fails with EAGAIN. */
export interface UnblockedDescriptor extends Disposable {
  readonly fd: number
}

/**
 * Opens the target of a descriptor again in non-blocking mode: a blocked write occupies a thread of
 * the process permanently, and prevents the process from exiting. Returns undefined for files,
 * whose writes always complete, and for descriptors that cannot be made non-blocking.
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

/** Opens a separate descriptor, because all processes that share a descriptor share its flags. */
function reopen(fd: number): UnblockedDescriptor | undefined {
  const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants
  try {
    const reopened = openSync(`/proc/self/fd/${fd}`, O_WRONLY | O_NONBLOCK | O_NOCTTY)
    return { fd: reopened, [Symbol.dispose]: () => closeSync(reopened) }
  } catch {
    // /proc is not available, or the pipe belongs to another user.
    return undefined
  }
}

/**
 * The sockets are kept permanently, because a socket closes its descriptor when it is
 * garbage-collected.
 */
const unblocked = new Map<number, Socket>()

/** Node's streams for pipes and sockets set the flag, and Node resets it when the process exits. */
function toUnblocked(fd: number): UnblockedDescriptor {
  if (!unblocked.has(fd)) {
    unblocked.set(fd, new Socket({ fd, readable: false, writable: true }).unref())
  }
  return { fd, [Symbol.dispose]: () => {} }
}
