import { type Answer, parseObject } from '../health/ask.ts'
import { type SignIns, stepMs } from './sign-ins.ts'

const dayMs = 86_400_000
/** Processes write what they have counted a moment later. */
const lateMs = 6 * stepMs

interface Memory {
  /** From where on to read again. */
  nextMs: number
}

const memories = new WeakMap<SignIns, Memory>()

/** Reads what the auth server has counted since the last time. @returns false where it does not count. */
export async function readSignInCounts(
  signIns: SignIns,
  read: (path: string) => Promise<Answer>,
): Promise<boolean> {
  const memory = memories.get(signIns) ?? { nextMs: 0 }
  memories.set(signIns, memory)
  const firstMs = Math.max(memory.nextMs, Math.floor((Date.now() - dayMs) / stepMs) * stepMs)
  const since = encodeURIComponent(new Date(firstMs).toISOString())
  const { status, text } = await read(`/admin/sign-ins?since=${since}`)
  if (status !== 200) return false
  const { counts } = parseObject(text) ?? {}
  if (!Array.isArray(counts)) return false
  signIns.forgetFrom(firstMs)
  for (const { step, outcome, count } of counts) {
    const at = Date.parse(step)
    if (at < firstMs) continue
    const isSuccess = outcome === 'succeeded'
    signIns.add(at, { succeeded: isSuccess ? count : 0, failed: isSuccess ? 0 : count })
  }
  signIns.setKnownFrom(firstMs)
  memory.nextMs = Math.floor((Date.now() - lateMs) / stepMs) * stepMs
  return true
}
