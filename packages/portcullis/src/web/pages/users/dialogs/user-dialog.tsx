import type { JSX } from 'preact'
import type { User } from '../../../../console/routes/users-upstream.ts'
import { Field } from '../../../components/field.tsx'

/** The props of each dialog about a user. */
export interface UserDialogProps {
  readonly user: User
  readonly onChange: (user: User) => void
  readonly onDeleted: () => void
  readonly onClose: () => void
}

/** The field for `redirect_to`, the page that a link leads to. */
export function RedirectField({ label }: { readonly label: string }): JSX.Element {
  return (
    <Field label={label} hint="Leave empty to use the site URL.">
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
