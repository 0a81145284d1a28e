/** The users that earlier batches of the same file have imported. */
export const createSeen = 'create temp table import_seen (id uuid primary key)'

export const findSeen = 'select id::text as id from pg_temp.import_seen where id = any($1::uuid[])'

export const addSeen = 'insert into pg_temp.import_seen select unnest($1::uuid[])'
