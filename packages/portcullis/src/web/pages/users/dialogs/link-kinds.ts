import type { User } from '../../../../console/routes/users-records.ts'

export interface LinkKind {
  readonly type: string
  readonly title: string
  readonly explanation: string
  /** What else has to be told. */
  readonly asks?: 'new_email' | 'password'
}

const always = [
  {
    type: 'magiclink',
    title: 'Sign in',
    explanation: 'Signs them in without a password. Nothing is sent.',
  },
  {
    type: 'recovery',
    title: 'Set a new password',
    explanation: 'Signs them in to choose a new password. Nothing is sent.',
  },
  {
    type: 'email_change_new',
    title: 'Change the email address: for the new address',
    explanation: 'Whoever opens it proves that the new address is theirs. Nothing is sent.',
    asks: 'new_email',
  },
  {
    type: 'email_change_current',
    title: 'Change the email address: for the present address',
    explanation:
      'Where a change needs both addresses, this one is for the present. Nothing is sent.',
    asks: 'new_email',
  },
] as const satisfies readonly LinkKind[]

const beforeConfirmation: readonly LinkKind[] = [
  {
    type: 'invite',
    title: 'Invite',
    explanation: 'Confirms the address and signs them in. It is sent by mail as well.',
  },
  {
    type: 'signup',
    title: 'Confirm the sign-up',
    explanation: 'Confirms the address of an account with a password. Nothing is sent.',
    asks: 'password',
  },
]

/** Whose address is confirmed needs no link that confirms it. */
export function toLinkKinds({ email_confirmed_at: at }: User): readonly [LinkKind, ...LinkKind[]] {
  return at === undefined ? [...always, ...beforeConfirmation] : always
}
