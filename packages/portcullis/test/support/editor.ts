import type { Locator, Page } from 'playwright-core'

/** Returns a code editor by its label. */
export function editorOf(page: Page, label: string): Locator {
  return page.getByRole('textbox', { name: label, exact: true })
}

/** Replaces the text of a code editor. */
export async function fillEditor(editor: Locator, text: string): Promise<void> {
  await editor.focus()
  await editor.press('ControlOrMeta+a')
  await editor.page().keyboard.insertText(text)
}

/** Chooses a completion. The editor ignores clicks on a list that it is still searching for. */
export async function chooseCompletion(page: Page, name: string): Promise<void> {
  await page
    .locator('.cm-tooltip-autocomplete:not(.cm-tooltip-autocomplete-disabled)')
    .locator('.cm-completionLabel', { hasText: new RegExp(`^${name}$`) })
    .click()
}

/** Returns the text of a code editor that is short enough to be rendered completely. */
export async function readEditor(editor: Locator): Promise<string> {
  return await editor.evaluate((content) =>
    [...content.querySelectorAll('.cm-line')].map((line) => line.textContent).join('\n'),
  )
}
