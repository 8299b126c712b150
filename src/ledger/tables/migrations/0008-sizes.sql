-- The size of a row as JSON, in bytes, so that a page of rows can be limited without reading them. Rows of before have
-- none: theirs is counted when it is needed.
alter table event add column size integer;
alter table transaction add column size integer;
