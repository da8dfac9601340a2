/* Completions for shells, from the tables. The name of its value tells what an option takes, and
 * the words of a command what the command takes. */
#include "../filters/request.h"
#include "options.h"

#include <string.h>

static void append_word(char *list, size_t size, const char *word)
{
    const size_t used = strlen(list);
    snprintf(list + used, size - used, "%s ", word);
}

/* Candidates for a value: "@files", "@folders", words separated by blanks, or "" for what cannot be
 * guessed. */
static const char *values_of(const struct command *c, const char *value)
{
    static char kinds[200];
    if (strcmp(value, "FILE") == 0) return "@files";
    if (strcmp(value, "DIR") == 0) return "@folders";
    if (strcmp(value, "WHEN") == 0) return "auto always never";
    if (strcmp(value, "SHELL") == 0) return "bash zsh fish";
    if (strcmp(value, "ENC") == 0) return "text int64le"; /* fixed:N needs a number */
    if (strcmp(value, "KIND") != 0) return "";
    if (strcmp(c->name, "uniq") == 0) return "auto blocked bloom growing partitioned";
    const bool counts = strcmp(c->name, "count") == 0;
    strcpy(kinds, counts ? "window " : "auto ");
    for (uint32_t kind = counts ? KIND_END : 1; kind < (counts ? COUNT_KIND_END : KIND_END); kind++)
        if (tamis_kind_name(kind) != NULL && kind != TAMIS_PRIVATE)
            append_word(kinds, sizeof kinds, tamis_kind_name(kind));
    if (!counts) append_word(kinds, sizeof kinds, tamis_kind_name(TAMIS_DISTINCT));
    return kinds;
}

/* Candidates for the words of a command: files, unless they are words to draw, or numbers. */
static const char *words_of(const struct command *c)
{
    static char help[800];
    if (strcmp(c->name, "help") != 0)
        return c->words[0] == '\0' || strncmp(c->words, "WORD", 4) == 0 ||
                       strncmp(c->words, "[ITEMS", 6) == 0
                   ? ""
                   : "@files";
    help[0] = '\0';
    for (const struct command *each = commands; each->name != NULL; each++)
        if (strchr(each->name, ' ') == NULL) append_word(help, sizeof help, each->name);
    for (const struct topic *t = topics; t->name != NULL; t++)
        append_word(help, sizeof help, t->name);
    return help;
}

/* Prints the first clause of a help text, for one line of a menu, with a backslash before special
 * characters of the shell. A single quote becomes a typographic one, because it cannot be escaped
 * inside single quotes. */
static void print_short(const char *help, const char *special, FILE *to)
{
    for (const char *end = help + clause_length(help); help < end; help++) {
        if (strchr(special, *help) != NULL) fputc('\\', to);
        if (*help == '\'')
            fputs("’", to);
        else
            fputc(*help, to);
    }
}

/* --- bash ------------------------------------------------------------------------------------- */

static void bash_command(const struct command *c, FILE *to)
{
    fprintf(to, "    '%s')\n        options='", c->name);
    for (size_t i = 0; i < n_options; i++)
        if (option_of(c, i) != NULL) fprintf(to, "--%s ", options[i].name);
    fprintf(to, "'\n        words='%s'\n        case $before in\n", words_of(c));
    for (size_t i = 0; i < n_options; i++) {
        const struct option *o = option_of(c, i);
        if (o == NULL || o->value == NULL) continue;
        fputs("        ", to);
        if (o->letter != 0) fprintf(to, "-%c | ", o->letter);
        fprintf(to, "--%s) options='' words='%s' ;;\n", o->name, values_of(c, o->value));
    }
    fputs("        esac\n        ;;\n", to);
}

static void print_bash(FILE *to)
{
    fputs(
        "# bash completion for tamis: from 'tamis help --completions bash'\n"
        "_tamis()\n{\n"
        "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
        "    local command=${COMP_WORDS[1]} first=2 options='' words=''\n"
        "    COMPREPLY=()\n"
        "    # bash takes --kind=x for three words.\n"
        "    if [[ $word == = ]]; then\n        word=''\n"
        "    elif [[ $before == = ]]; then\n        before=${COMP_WORDS[COMP_CWORD - 2]}\n    fi\n"
        "    case \" ${COMP_WORDS[*]:1:2} \" in\n",
        to);
    for (const struct command *c = commands; c->name != NULL; c++)
        if (strchr(c->name, ' ') != NULL)
            fprintf(to, "    ' %s ') command='%s' first=3 ;;\n", c->name, c->name);
    fputs("    esac\n    case $command in\n", to);
    for (const struct command *c = commands; c->name != NULL; c++) bash_command(c, to);
    fputs("    esac\n    if ((COMP_CWORD == 1)); then\n        options='' words='--help --version ",
          to);
    for (const struct command *c = commands; c->name != NULL; c++)
        fprintf(to, "%.*s ", (int)strcspn(c->name, " "), c->name);
    fputs("'\n    elif ((COMP_CWORD == 2 && first == 2)); then\n        case $command in\n", to);
    for (const struct command *c = commands; c->name != NULL; c++)
        if (strchr(c->name, ' ') != NULL)
            fprintf(to, "        %.*s) words+=' %s' ;;&\n", (int)strcspn(c->name, " "), c->name,
                    strchr(c->name, ' ') + 1);
    fputs("        esac\n    fi\n"
          "    [[ $word == -* && -n $options ]] && words=$options\n"
          "    case $words in\n"
          "    @files*) compopt -o filenames 2>/dev/null\n"
          "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\") ;;\n"
          "    @folders) compopt -o filenames 2>/dev/null\n"
          "        mapfile -t COMPREPLY < <(compgen -d -- \"$word\") ;;\n"
          "    *) mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\" | sort -u) ;;\n"
          "    esac\n}\ncomplete -F _tamis tamis\n",
          to);
}

/* --- zsh -------------------------------------------------------------------------------------- */

static void zsh_action(const char *values, FILE *to)
{
    if (strcmp(values, "@files") == 0)
        fputs("_files", to);
    else if (strcmp(values, "@folders") == 0)
        fputs("_files -/", to);
    else if (values[0] != '\0')
        fprintf(to, "(%s)", values);
}

static void zsh_option(const struct command *c, const struct option *o, FILE *to)
{
    const char *equals = o->value != NULL ? "=" : "";
    fputs("            ", to);
    if (o->letter != 0)
        fprintf(to, "'(-%c --%s)'{-%c%s,--%s%s}'[", o->letter, o->name, o->letter,
                o->value != NULL ? "+" : "", o->name, equals);
    else
        fprintf(to, "'%s--%s%s[", o->type == TEXTS ? "*" : "", o->name, equals);
    print_short(o->help, "[]:\\", to);
    fputc(']', to);
    if (o->value != NULL) {
        fprintf(to, ":%s:", o->value);
        zsh_action(values_of(c, o->value), to);
    }
    fputs("' \\\n", to);
}

static void zsh_command(const struct command *c, FILE *to)
{
    fprintf(to, "    '%s')\n        _arguments -s -S \\\n", c->name);
    for (size_t i = 0; i < n_options; i++)
        if (option_of(c, i) != NULL) zsh_option(c, option_of(c, i), to);
    fputs("            '*:", to);
    fputs(c->words[0] != '\0' ? "word" : "", to);
    fputc(':', to);
    zsh_action(words_of(c), to);
    fputs("'\n        ;;\n", to);
}

static void print_zsh(FILE *to)
{
    fputs("#compdef tamis\n# from 'tamis help --completions zsh'\n"
          "_tamis() {\n    local command=$words[2] first=2\n    local -a known\n    known=(\n",
          to);
    for (const struct command *c = commands; c->name != NULL; c++) {
        fprintf(to, "        '%.*s:", (int)strcspn(c->name, " "), c->name);
        print_short(strchr(c->name, ' ') != NULL ? c->name : c->summary, "", to);
        fputs("'\n", to);
    }
    fputs("    )\n"
          "    if (( CURRENT == 2 )); then\n"
          "        _describe command known\n"
          "        compadd -- --help --version\n"
          "        return\n    fi\n"
          "    case \"$words[2] $words[3]\" in\n",
          to);
    for (const struct command *c = commands; c->name != NULL; c++)
        if (strchr(c->name, ' ') != NULL)
            fprintf(to, "    '%s') (( CURRENT > 3 )) && command='%s' first=3 ;;\n", c->name,
                    c->name);
    fputs("    esac\n    if (( CURRENT == 3 )); then\n        case $words[2] in\n", to);
    for (const struct command *c = commands; c->name != NULL; c++)
        if (strchr(c->name, ' ') != NULL)
            fprintf(to, "        %.*s) compadd -- %s ;|\n", (int)strcspn(c->name, " "), c->name,
                    strchr(c->name, ' ') + 1);
    fputs("        esac\n    fi\n    shift $((first - 1)) words\n    (( CURRENT -= first - 1 ))\n"
          "    case $command in\n",
          to);
    for (const struct command *c = commands; c->name != NULL; c++) zsh_command(c, to);
    fputs("    esac\n}\n_tamis \"$@\"\n", to);
}

/* --- fish ------------------------------------------------------------------------------------- */

static void fish_values(const char *values, FILE *to)
{
    if (strcmp(values, "@files") == 0)
        fputs(" -F", to);
    else if (strcmp(values, "@folders") == 0)
        fputs(" -a '(__fish_complete_directories)'", to);
    else if (values[0] != '\0')
        fprintf(to, " -a '%s'", values);
}

static void fish_command(const struct command *c, FILE *to)
{
    const char *second = strchr(c->name, ' ');
    const int first = (int)strcspn(c->name, " ");
    if (second == NULL) {
        fprintf(to, "complete -c tamis -n '__tamis_is \"\"' -a %s -d '", c->name);
    } else {
        fprintf(to, "complete -c tamis -n '__tamis_is \"\"' -a %.*s\n", first, c->name);
        fprintf(to, "complete -c tamis -n '__tamis_is %.*s' -a %s -d '", first, c->name,
                second + 1);
    }
    print_short(c->summary, "\\", to);
    fputs("'\n", to);
    for (size_t i = 0; i < n_options; i++) {
        const struct option *o = option_of(c, i);
        if (o == NULL) continue;
        fprintf(to, "complete -c tamis -n '__tamis_is %s' -l %s", c->name, o->name);
        if (o->letter != 0) fprintf(to, " -s %c", o->letter);
        if (o->value != NULL) {
            const char *values = values_of(c, o->value);
            fputs(strcmp(values, "@files") == 0 ? " -r" : " -x", to);
            fish_values(values, to);
        }
        fputs(" -d '", to);
        print_short(o->help, "\\", to);
        fputs("'\n", to);
    }
    if (words_of(c)[0] == '\0') return;
    fprintf(to, "complete -c tamis -n '__tamis_is %s'", c->name);
    fish_values(words_of(c), to);
    fputc('\n', to);
}

static void print_fish(FILE *to)
{
    fputs("# fish completion for tamis: from 'tamis help --completions fish'\n"
          "# Whether the command line has got as far as this command, of one word or two.\n"
          "function __tamis_is\n"
          "    set -l words (commandline -opc) ''\n"
          "    set -e words[1]\n"
          "    set -l known $words[1]\n"
          "    switch \"$words[1] $words[2]\"\n        case",
          to);
    for (const struct command *c = commands; c->name != NULL; c++)
        if (strchr(c->name, ' ') != NULL) fprintf(to, " '%s'", c->name);
    fputs("\n            set known \"$words[1] $words[2]\"\n    end\n"
          "    test \"$known\" = \"$argv\"\nend\n"
          "complete -c tamis -f\n",
          to);
    for (const struct command *c = commands; c->name != NULL; c++) fish_command(c, to);
}

bool print_completions(const char *shell, FILE *to)
{
    if (strcmp(shell, "bash") == 0)
        print_bash(to);
    else if (strcmp(shell, "zsh") == 0)
        print_zsh(to);
    else if (strcmp(shell, "fish") == 0)
        print_fish(to);
    else
        return false;
    return true;
}
