-- The database or file that a row was imported from, so that an import removes only rows from the same source.
-- Null: the row was imported before this migration. The next import from a source that has the row sets it.
alter table {ns}.imported_rows add column source text;
