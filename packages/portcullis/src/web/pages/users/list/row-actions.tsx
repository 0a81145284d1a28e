import type { FunctionComponent, JSX, TargetedKeyboardEvent } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { User } from '../../../../console/routes/users-upstream.ts'
import { Icon, type IconName } from '../../../components/icons.tsx'
import { showFailure, showSuccess } from '../../../components/toasts.tsx'
import { changeUser } from '../change-user.ts'
import { BanDialog, DeleteDialog, RevokeSessionsDialog } from '../dialogs/change-dialogs.tsx'
import type { UserDialogProps } from '../dialogs/user-dialog.tsx'
import { isBanned, toUserName } from '../user-facts.tsx'

interface RowAction {
  readonly icon: IconName
  readonly title: string
  /** The accessible name of the button. */
  readonly toLabel: (name: string) => string
  /** Asks for confirmation, and then acts. Undefined for an action that needs no confirmation. */
  readonly dialog?: FunctionComponent<UserDialogProps>
}

type RowActionName = 'ban' | 'unban' | 'sessions' | 'delete'

const rowActions: Readonly<Record<RowActionName, RowAction>> = {
  ban: { icon: 'ban', title: 'Ban…', toLabel: (name) => `Ban ${name}`, dialog: BanDialog },
  unban: { icon: 'check', title: 'Lift ban', toLabel: (name) => `Lift the ban of ${name}` },
  sessions: {
    icon: 'leave',
    title: 'Revoke sessions…',
    toLabel: (name) => `Revoke the sessions of ${name}`,
    dialog: RevokeSessionsDialog,
  },
  delete: {
    icon: 'trash',
    title: 'Delete…',
    toLabel: (name) => `Delete ${name}`,
    dialog: DeleteDialog,
  },
}

/** The buttons at the end of a row. The row handles their clicks, see `findRowAction`. */
export function RowActions({ user }: { readonly user: User }): JSX.Element {
  const names: readonly RowActionName[] = [isBanned(user) ? 'unban' : 'ban', 'sessions', 'delete']
  return (
    <span class="user-row-actions">
      {names.map((name) => {
        const { icon, title, toLabel } = rowActions[name]
        return (
          // Not a tab stop: the list moves the focus here with the right arrow key.
          <button
            key={name}
            type="button"
            class="button quiet small"
            tabIndex={-1}
            data-action={name}
            title={title}
            aria-label={toLabel(toUserName(user))}
          >
            <Icon name={icon} />
          </button>
        )
      })}
    </span>
  )
}

function findButton(target: EventTarget | null): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>('[data-action]') : null
}

/** Returns the action whose button was clicked. */
export function findRowAction(target: EventTarget | null): RowActionName | undefined {
  const name = findButton(target)?.dataset['action']
  return name !== undefined && isRowAction(name) ? name : undefined
}

function isRowAction(name: string): name is RowActionName {
  return Object.hasOwn(rowActions, name)
}

/** Moves the focus between the buttons of a row, and back to the list. @returns whether it handled the key. */
export function moveInActions(event: TargetedKeyboardEvent<HTMLElement>): boolean {
  const button = findButton(event.target)
  if (button === null) return false
  const targets: Readonly<Record<string, Element | null>> = {
    ArrowRight: button.nextElementSibling,
    ArrowLeft: button.previousElementSibling ?? event.currentTarget,
    Escape: event.currentTarget,
  }
  const target = targets[event.key]
  if (target === undefined) return false
  if (target instanceof HTMLElement) target.focus({ preventScroll: true })
  event.preventDefault()
  return true
}

interface RowActionsOptions {
  /** The ID of the list, which receives the focus after a dialog. */
  readonly listId: string
  readonly onChanged: (user: User) => void
  readonly onDeleted: (user: User) => void
}

interface RunningActions {
  readonly run: (name: RowActionName, user: User) => void
  /** The open dialog, if any. */
  readonly dialog: JSX.Element | undefined
}

export function useRowActions({ listId, onChanged, onDeleted }: RowActionsOptions): RunningActions {
  const [opened, setOpened] = useState<{ readonly name: RowActionName; readonly user: User }>()
  const wasOpen = useRef(false)
  // The browser returns the focus to the button, whose row may show another user after a deletion.
  useLayoutEffect(() => {
    if (wasOpen.current && !opened) document.getElementById(listId)?.focus({ preventScroll: true })
    wasOpen.current = opened !== undefined
  }, [opened])
  const OpenDialog = opened && rowActions[opened.name].dialog
  return {
    run(name, user) {
      if (name === 'unban') void liftBan(user, onChanged)
      else setOpened({ name, user })
    },
    dialog: OpenDialog && opened && (
      <OpenDialog
        user={opened.user}
        onChange={onChanged}
        onDeleted={() => onDeleted(opened.user)}
        onClose={() => setOpened(undefined)}
      />
    ),
  }
}

async function liftBan(user: User, onChanged: (user: User) => void): Promise<void> {
  try {
    onChanged(await changeUser(user.id, { ban_duration: 'none' }))
    showSuccess(`The ban of ${toUserName(user)} was lifted.`)
  } catch (error) {
    showFailure(error)
  }
}
