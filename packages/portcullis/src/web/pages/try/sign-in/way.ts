import type { FunctionComponent } from 'preact'
import type { Tab } from '../../../components/tabs.tsx'
import type { AuthClient } from '../auth-client.ts'
import type { Sent } from './sent.ts'

export type WayName = 'sign-up' | 'password' | 'magic-link' | 'phone'

/** A way to sign in, with its form. */
export interface Way extends Tab<WayName> {
  readonly form: FunctionComponent<WayProps>
  readonly isOpen: (settings: AuthSettings | undefined) => boolean
}

/** What each form is given. */
export interface WayProps {
  readonly client: AuthClient
  /** Tells of a message that is under way. */
  readonly onSent: (sent: Sent) => void
}

/** The part of `/settings` that decides what can be tried. */
export interface AuthSettings {
  readonly disable_signup: boolean
  readonly phone_enabled: boolean
}
