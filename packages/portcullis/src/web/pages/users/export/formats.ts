import type { User } from '../../../../console/routes/users-upstream.ts'
import { hasSecondFactor } from '../list/columns.tsx'
import { toFullName, toProviders } from '../user-facts.tsx'
import { toCsvLine } from './csv.ts'

export interface ExportFormat {
  readonly title: string
  readonly explanation: string
  readonly extension: string
  readonly mediaType: string
  /** The text before the first user. */
  readonly head: string
  readonly toText: (user: User) => string
}

const csvColumns: Readonly<Record<string, (user: User) => string | undefined>> = {
  id: ({ id }) => id,
  email: ({ email }) => email,
  phone: ({ phone }) => phone,
  full_name: toFullName,
  role: ({ role }) => role,
  providers: (user) => toProviders(user).join(' '),
  is_anonymous: (user) => String(user.is_anonymous),
  has_second_factor: (user) => String(hasSecondFactor(user)),
  email_confirmed_at: (user) => user.email_confirmed_at,
  phone_confirmed_at: (user) => user.phone_confirmed_at,
  invited_at: (user) => user.invited_at,
  created_at: (user) => user.created_at,
  updated_at: (user) => user.updated_at,
  last_sign_in_at: (user) => user.last_sign_in_at,
  banned_until: (user) => user.banned_until,
  deleted_at: (user) => user.deleted_at,
  user_metadata: (user) => JSON.stringify(user.user_metadata),
  app_metadata: (user) => JSON.stringify(user.app_metadata),
}

export const exportFormats = {
  csv: {
    title: 'CSV',
    explanation:
      'One line for each user, for spreadsheet programs. Texts that look like formulas get an apostrophe.',
    extension: 'csv',
    mediaType: 'text/csv;charset=utf-8',
    head: toCsvLine(Object.keys(csvColumns)),
    toText: (user) => toCsvLine(Object.values(csvColumns).map((read) => read(user) ?? '')),
  },
  jsonl: {
    title: 'JSON Lines',
    explanation: 'One JSON object for each user, with everything that the auth server returns.',
    extension: 'jsonl',
    mediaType: 'application/x-ndjson;charset=utf-8',
    head: '',
    toText: (user) => `${JSON.stringify(user)}\n`,
  },
} as const satisfies Readonly<Record<string, ExportFormat>>

export type ExportFormatName = keyof typeof exportFormats
