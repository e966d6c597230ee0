"""Forms of English words that no rule of endings joins: each is stemmed as its base form is.

Pure: a table, written for this project. Forms that are words of their own as often ("left", "saw", "wound",
"led", "data") are left out, or stand with the sense in which pages use them. British spellings stand with the American
ones.
"""

_PLURALS = """
alumna alumnae | alumnus alumni | analysis analyses | antenna antennae | apex apices | appendix appendices
axis axes | bacillus bacilli | bacterium bacteria | cactus cacti | calf calves | child children
codex codices | corpus corpora | crisis crises | criterion criteria | curriculum curricula
diagnosis diagnoses | dwarf dwarves | elf elves | emphasis emphases | erratum errata | focus foci | foot feet
formula formulae | fungus fungi | genus genera | goose geese | half halves | helix helices | hoof hooves
hypothesis hypotheses | index indices indexes | knife knives | larva larvae | leaf leaves | life lives
loaf loaves | locus loci | louse lice | man men | matrix matrices matrixes | memorandum memoranda
metamorphosis metamorphoses | mouse mice | nebula nebulae | neurosis neuroses | nucleus nuclei | oasis oases
octopus octopi | optimum optima | ovum ova | ox oxen | parenthesis parentheses | person people
phenomenon phenomena | prognosis prognoses | quantum quanta | radius radii | scarf scarves | self selves
sheaf sheaves | shelf shelves | simplex simplices | spectrum spectra | stigma stigmata | stimulus stimuli
stratum strata | syllabus syllabi | symposium symposia | synthesis syntheses | thesis theses | thief thieves
tooth teeth | vertebra vertebrae | vertex vertices | vortex vortices | wife wives | wolf wolves | woman women
automaton automata | maximum maxima | bad worse worst | synopsis synopses | minimum minima | extremum extrema
polyhedron polyhedra | ganglion ganglia | millennium millennia | addendum addenda | referendum referenda
consortium consortia | cortex cortices | directrix directrices | policeman policemen | fireman firemen
salesman salesmen | fisherman fishermen | businessman businessmen | chairman chairmen | craftsman craftsmen
gentleman gentlemen | workman workmen | grandchild grandchildren | policewoman policewomen
businesswoman businesswomen | housewife housewives | bookshelf bookshelves | werewolf werewolves
schema schemata | lemma lemmata | dogma dogmata | forum fora | stadium stadia | aquarium aquaria
testis testes | metathesis metatheses | catharsis catharses | paralysis paralyses | electrolysis electrolyses
hydrolysis hydrolyses | dialysis dialyses | psychosis psychoses | thrombosis thromboses
metastasis metastases | sclerosis scleroses
"""
_VERBS = """
arise arose arisen | awake awoke awoken | bear borne | beat beaten | become became | begin began begun
bend bent | bleed bled | blow blew blown | break broke broken | breed bred | bring brought | build built
burn burnt | buy bought | catch caught | choose chose chosen | cling clung | come came | creep crept
deal dealt | dig dug | draw drew drawn | dream dreamt | drink drank drunk | drive drove driven | eat ate eaten
fall fallen | fight fought | flee fled | fling flung | fly flew flown | forbid forbade forbidden
forget forgot forgotten | forgive forgave forgiven | freeze froze frozen | get got gotten | give gave given
go went gone | grow grew grown | hang hung | hear heard | hide hid hidden | hold held | keep kept
kneel knelt | know knew known | lean leant | leap leapt | learn learnt | lose lost | make made | mean meant
meet met | mislead misled | mistake mistook mistaken | mow mown | overcome overcame
override overrode overridden | overtake overtook overtaken | pay paid | plead pled | prove proven
rebuild rebuilt | redo redid redone | rewrite rewrote rewritten | ride rode ridden | ring rang rung
rise risen | run ran | say said | see seen | seek sought | sell sold | send sent | sew sewn
shake shook shaken | shear shorn | shine shone | show shown | shrink shrank shrunk | sing sang sung
sink sank sunk | sit sat | sleep slept | slide slid | sling slung | smell smelt | sow sown
speak spoke spoken | speed sped | spell spelt | spend spent | spill spilt | spin spun | spoil spoilt
spring sprang sprung | stand stood | steal stole stolen | stick stuck | sting stung | stink stank stunk
strew strewn | stride strode stridden | strike struck stricken | string strung | strive strove striven
swear swore sworn | sweep swept | swell swollen | swim swam swum | swing swung | take took taken
teach taught | tear tore torn | tell told | think thought | throw threw thrown | tread trod trodden
undergo underwent undergone | understand understood | undertake undertook undertaken | undo undid undone
unwind unwound | uphold upheld | wake woke woken | wear wore worn | weave wove woven | weep wept | win won
withdraw withdrew withdrawn | withhold withheld | withstand withstood | wring wrung | write wrote written
foresee foresaw foreseen | forecast forecasted | oversee oversaw overseen | outgrow outgrew outgrown
outdo outdid outdone | rethink rethought | resend resent | rerun reran | retake retook retaken
input inputted | format formatted formatting | debug debugged debugging | refer referred referring
find found | feel felt
"""
_SPELLINGS = """
colour color | centre center | fibre fiber | metre meter | litre liter | theatre theater | behaviour behavior
favour favor | favourite favorite | flavour flavor | honour honor | humour humor | labour labor
neighbour neighbor | rumour rumor | vapour vapor | armour armor | harbour harbor | analogue analog
catalogue catalog | dialogue dialog | defence defense | licence license | offence offense | practise practice
programme program | grey gray | aluminium aluminum | aeroplane airplane | organise organize
organisation organization | optimise optimize | optimisation optimization | initialise initialize
initialisation initialization | serialise serialize | serialisation serialization | normalise normalize
normalisation normalization | synchronise synchronize | synchronisation synchronization | visualise visualize
visualisation visualization | customise customize | customisation customization | recognise recognize
realise realize | analyse analyze | tumour tumor | haemoglobin hemoglobin | oesophagus esophagus
foetus fetus | anaemia anemia | leukaemia leukemia | authorise authorize | authorisation authorization
categorise categorize | minimise minimize | maximise maximize | summarise summarize | utilise utilize
specialise specialize | generalise generalize | generalisation generalization
"""


def _forms() -> dict[str, str]:
    found: dict[str, str] = {}
    for row in "|".join(each.strip().replace("\n", "|") for each in (_PLURALS, _VERBS)).split("|"):
        base, *forms = row.split()
        found.update(dict.fromkeys(forms, base))
    for row in _SPELLINGS.strip().replace("\n", "|").split("|"):
        british, american = row.split()
        found[british] = american
        found.setdefault(british + "s", american)
        for ending in ("ed", "ing", "er", "ers"):
            found[british.removesuffix("e") + ending] = american.removesuffix("e") + ending
    return found


ENGLISH_FORMS = _forms()
