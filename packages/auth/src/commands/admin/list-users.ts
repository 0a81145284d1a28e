import { listAfter } from '../../features/admin/list-users.ts'
import { parseCount } from '../../features/admin/pages.ts'
import type { UserRecord } from '../../features/users/user-record.ts'
import type { AdminVerb } from './verb.ts'

export const listusers: AdminVerb = {
  synopsis: '[--filter TEXT] [--limit N] [--json] [--aud AUDIENCE]',
  summary: 'the newest users, 50 of them where --limit says nothing; --json: one object a line',
  takes: [0, 0],
  options: ['filter', 'limit', 'json', 'aud'],
  async run({ db }, { texts, flags, audience, io }) {
    const list = { audience, filter: texts.get('filter') ?? '', direction: 'desc' } as const
    const limit = parseCount('limit', texts.get('limit'), 50, 1_000)
    const users: UserRecord[] = []
    let cursor: string | undefined = ''
    // One search reads a bounded number of users; the command goes on until all are searched.
    while (cursor !== undefined && users.length < limit) {
      const slice = await listAfter({ db }, list, { cursor, limit: limit - users.length })
      users.push(...slice.users)
      cursor = slice.nextCursor
    }
    const toLine = flags.has('json') ? JSON.stringify : toRow
    for (const user of users) io.stdout.write(`${toLine(user)}\n`)
    if (cursor !== undefined) io.stderr.write('There are more; --limit shows up to 1000.\n')
  },
}

function toRow({ id, email, phone, role, created_at: since }: UserRecord): string {
  return [id, since, email || phone || '-', role || '-'].join('\t')
}
