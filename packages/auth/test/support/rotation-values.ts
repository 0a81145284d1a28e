import { randomUUID } from 'node:crypto'

const epoch = new Date(0)

/** The values of `rotateSession`, with limits that every session keeps. */
export function toRotationValues(sessionId: string, counter: number) {
  return {
    sessionId,
    counter,
    userAgent: `agent of ${sessionId}`,
    ip: '203.0.113.7',
    auditId: randomUUID(),
    auditAction: 'token_refreshed',
    now: new Date(),
    earliestCreation: epoch,
    earliestRefresh: epoch,
    earliestLowAalCreation: epoch,
    isSinglePerUser: false,
    tags: '',
    clientId: null,
  }
}
