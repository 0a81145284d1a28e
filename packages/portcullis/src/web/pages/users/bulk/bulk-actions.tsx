import type { ComponentChildren } from 'preact'
import type { User } from '../../../../console/routes/users-upstream.ts'
import { callApi } from '../../../api.ts'
import { readText } from '../../../form-values.ts'
import { changeUser, revokeAllSessions } from '../change-user.ts'
import { BanDurations, DeleteKinds } from '../dialogs/change-dialogs.tsx'

/** An action on all selected users. */
export interface BulkAction {
  /** The text of the button that opens the dialog. */
  readonly title: string
  /** The text of the button that starts the action. */
  readonly verb: string
  /** The past tense, such as `banned`. */
  readonly done: string
  readonly question: (users: string) => string
  readonly children: ComponentChildren
  /** Acts on one user, with the choices in the dialog. */
  act(user: User, form: FormData): Promise<unknown>
}

export const bulkActions = {
  ban: {
    title: 'Ban…',
    verb: 'Ban',
    done: 'banned',
    question: (users) => `Ban ${users}?`,
    children: (
      <>
        <p class="muted">
          The users can neither sign in nor refresh a session until the ban ends or is lifted.
          Nothing is deleted. An existing ban is replaced.
        </p>
        <BanDurations />
      </>
    ),
    act: (user, form) => changeUser(user.id, { ban_duration: `${readText(form, 'hours')}h` }),
  },
  sessions: {
    title: 'Revoke sessions…',
    verb: 'Revoke sessions',
    done: 'signed out',
    question: (users) => `Revoke all sessions of ${users}?`,
    children: (
      <p class="muted">
        Revoked sessions cannot be refreshed. Your services may still accept their access tokens
        until the tokens expire. The users can sign in again.
      </p>
    ),
    act: (user) => revokeAllSessions(user.id),
  },
  delete: {
    title: 'Delete…',
    verb: 'Delete',
    done: 'deleted',
    question: (users) => `Delete ${users}?`,
    children: (
      <>
        <p>This cannot be undone. The users are signed out everywhere.</p>
        <DeleteKinds />
      </>
    ),
    act: (user, form) =>
      callApi(`/api/users/${user.id}`, {
        method: 'DELETE',
        body: { should_soft_delete: form.get('kind') === 'soft' },
      }),
  },
} as const satisfies Readonly<Record<string, BulkAction>>

export type BulkActionName = keyof typeof bulkActions
