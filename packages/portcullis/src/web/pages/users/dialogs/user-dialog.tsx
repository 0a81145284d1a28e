import type { JSX } from 'preact'
import type { User } from '../../../../console/routes/users-upstream.ts'
import { Field } from '../../../components/field.tsx'

/** What each dialog about one user is given. */
export interface UserDialogProps {
  readonly user: User
  readonly onChange: (user: User) => void
  readonly onDeleted: () => void
  readonly onClose: () => void
}

/** Asks for `redirect_to`: where people arrive who have followed a link. */
export function RedirectField({ label }: { readonly label: string }): JSX.Element {
  return (
    <Field label={label} hint="Empty: to the site's own address.">
      <input
        name="redirect_to"
        type="url"
        class="input"
        placeholder="https://"
        autocomplete="off"
      />
    </Field>
  )
}

/** What somebody typed into a field, without the spaces around it. */
export function readText(form: FormData, name: string): string {
  const value = form.get(name)
  return typeof value === 'string' ? value.trim() : ''
}
