import type { JSX } from 'preact'
import { Field } from '../../../components/field.tsx'

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
