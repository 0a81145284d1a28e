import { badAnswer, type JsonObject } from './hook.ts'
import type { Verdict } from './hooks.ts'

/** `{"decision": "reject", "message": "…"}`; who says nothing has nothing against it. */
export function parseVerdict(answer: JsonObject): Verdict {
  const { decision = 'continue', message, should_logout_user: logout } = answer
  if (decision !== 'continue' && decision !== 'reject') {
    throw badAnswer('Hook must decide continue or reject')
  }
  return {
    isRejected: decision === 'reject',
    message: typeof message === 'string' ? message : '',
    logsUserOut: logout === true,
  }
}
