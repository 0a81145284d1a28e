import { ApiError } from '../../errors.ts'
import { toAdminEntry } from '../../features/audit/audit.ts'
import { logOut, revokeAllSessions } from '../../features/sessions/revoke-sessions.ts'
import { type AdminVerb, findUser, operator, operatorClient, toName } from './verb.ts'

export const revokesessions: AdminVerb = {
  synopsis: 'ID|EMAIL|--all [--aud AUDIENCE]',
  summary: 'sign a user out everywhere, or with --all every user; access tokens end by themselves',
  takes: [0, 1],
  options: ['all', 'aud'],
  async run(services, input) {
    const { io, flags, positionals } = input
    if (flags.has('all') === (positionals.length === 1)) {
      throw new ApiError('validation_failed', 'Name one user, or all with --all.')
    }
    const { ip } = operatorClient
    if (!flags.has('all')) {
      const user = await findUser(services, input)
      const entry = toAdminEntry('token_revoked', operator, { user_id: user.id })
      await logOut(services, { userId: user.id, sessionId: null, scope: 'global', entry, ip })
      io.stdout.write(`${toName(user)} is signed out everywhere\n`)
      return
    }
    const beforeMs = services.now()
    let sum = 0
    let after: string | undefined
    do {
      // A line for every hundred batches or so.
      const endsAt = performance.now() + 5_000
      const ask = { beforeMs, after, adminRole: operator, ip }
      const revoked = await revokeAllSessions(services, ask, () => performance.now() < endsAt)
      sum += revoked.count
      after = revoked.after
      if (after !== undefined) io.stderr.write(`${sum} sessions are revoked so far…\n`)
    } while (after !== undefined)
    io.stdout.write(`revoked ${sum} sessions\n`)
  },
}
